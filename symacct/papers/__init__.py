"""What a paper takes along: statement, document, fingerprint; and the check of what it prints."""
