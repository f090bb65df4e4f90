"""Campaigns: nights of schedules are drawn, steered by what earlier nights showed, and their reds are shrunk."""
