"""Programs that run in a target's own process and speak the protocol for it. Each needs only its language."""
