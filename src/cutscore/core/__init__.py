"""What every room stands on: the compiled core, checks of arguments, findings and errors, frozen
values, JSON, and files that are written aside."""
