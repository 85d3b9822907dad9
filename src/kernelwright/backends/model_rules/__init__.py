"""Rules for a candidate's `model.py`, of whatever backend: what `forward` may do by itself."""
