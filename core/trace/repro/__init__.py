"""One run as a file that another copy of the program opens and repeats: written without secrets, and brought in."""
