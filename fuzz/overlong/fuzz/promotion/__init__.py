"""What a finding becomes: a vector, a regression test in the language of its decoder."""
