"""Small programs in Java around JaCoCo and PIT, built once by the javac of this machine."""
