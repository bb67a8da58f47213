"""Routes and the page."""
