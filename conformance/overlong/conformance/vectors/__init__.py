"""Vectors as files: what is selected, what each says, how it is written, read and scored."""
