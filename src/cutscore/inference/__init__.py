"""How sure a number is: intervals, guarantees, bootstrap, tests of two scores, power."""
