"""The verbs of the command line, a module each. Modules import what is heavy only when they are called."""
