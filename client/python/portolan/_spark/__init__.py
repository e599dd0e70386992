"""What portolan.spark consists of: past one machine."""
