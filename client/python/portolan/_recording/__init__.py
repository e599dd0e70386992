"""Recording: the class Run, and the code that the hooks of all frameworks share."""
