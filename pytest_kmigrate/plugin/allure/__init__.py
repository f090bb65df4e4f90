"""``pytest --alluredir``: results of allure-pytest are completed by the evidence of runs."""
