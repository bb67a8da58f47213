"""The process around the service."""
