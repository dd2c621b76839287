"""What makes inputs and asks them: a grammar, Hypothesis, or coverage."""
