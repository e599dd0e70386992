"""The parts of portolan.spark, for runs that no single machine holds."""
