"""Reports of one run: timeline page and Allure results."""
