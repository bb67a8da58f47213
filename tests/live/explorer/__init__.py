"""Explores every history of one person's connections to a seat, over two nodes and one store."""
