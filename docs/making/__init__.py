"""What makes the pages of docs/reference out of the code that they are about; docs/generate.py runs it."""
