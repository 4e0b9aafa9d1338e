"""Small programs that keep the repository's own documents true."""
