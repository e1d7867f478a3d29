"""The search for counterexamples: finite laws, how sampling mixes them, wrong claims to refute."""
