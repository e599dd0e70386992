"""Reading back: one function per module, the tables that they return, and the live page."""
