"""How sure a number is: intervals, guarantees, bootstrap, the worth of a choice on new rows."""
