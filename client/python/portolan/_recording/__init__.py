"""Recording: the class Run, and what the hooks of all frameworks share."""
