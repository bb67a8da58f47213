"""Explores every history of a small log: two nodes, three commands, and accidents in any order."""
