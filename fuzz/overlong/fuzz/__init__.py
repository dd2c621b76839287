"""Where inputs come from when nobody wrote them."""
