"""What others can check without symacct: certificates of guarantees, and test vectors."""
