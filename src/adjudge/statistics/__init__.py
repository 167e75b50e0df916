"""Numbers with their error: a mean and its confidence interval, over values that may come in shards."""

from adjudge.statistics._mean import Mean, Method, Moments, mean_of
from adjudge.statistics._quantiles import normal_quantile, t_cdf, t_quantile

__all__ = ["Mean", "Method", "Moments", "mean_of", "normal_quantile", "t_cdf", "t_quantile"]
