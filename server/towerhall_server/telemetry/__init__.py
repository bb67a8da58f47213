"""What operators can see of a running server: counted here, shown on a port of its own."""
