"""Say what a decoder is: learn its machines, and compare them with every dialect and error mode."""
