"""The loop: propose, retrieve, generate, verify, reward, record, learn. Start at `rollout.py`."""
