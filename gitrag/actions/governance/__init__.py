"""What was decided, written or done before, and bears on what is at hand: check, related, review (§3.10)."""
