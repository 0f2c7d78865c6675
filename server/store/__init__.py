"""Documents by path: the port, its adapters, and the shapes of what Pidjin stores."""
