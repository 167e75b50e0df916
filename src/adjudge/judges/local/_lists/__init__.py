"""Answers of several members: lists, orders, the options of a question, open choices."""
