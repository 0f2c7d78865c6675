"""The figures of the design's budgets, measured on a real server process by real peers."""
