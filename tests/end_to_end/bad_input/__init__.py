"""Whatever a stranger sends is answered with its code, harms nobody, and leaves the log calm."""
