"""Where rollouts are kept: the only SQL of the product, and content-addressed files."""
