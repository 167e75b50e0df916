"""Numbers with their error: means, differences of two runs, tests and power, in plain Python.

    estimate_mean(scores, conversations)               a mean, its standard error and interval, clustered
    paired_difference(scores, others, conversations)   how much better one run is than another
    Clusters()                                         the same, of values that come in shards
    agreement(labels, verdicts, questions)             how far a judge agrees with people
    stratified_mean(strata)                            what all rows would give, from some that were drawn

`docs/explanation/statistics.md` has every formula with its reference and a worked number.
"""

from adjudge.statistics._agreement import (
    Agreement,
    Bin,
    Reliability,
    agreement,
    krippendorff_alpha,
    reliability,
)
from adjudge.statistics._bootstrap import Bootstrap, bootstrap_mean
from adjudge.statistics._clusters import Clusters, Correction, estimate_mean, fitting_correction, paired_difference
from adjudge.statistics._corrections import prediction_powered, rogan_gladen
from adjudge.statistics._estimate import FEW_CLUSTERS, Estimate, Interval, Range
from adjudge.statistics._hypotheses import McNemar, benjamini_hochberg, holm, mcnemar
from adjudge.statistics._mean import Mean, Method, Moments, mean_of
from adjudge.statistics._power import Design, minimum_detectable_effect, power, sample_size
from adjudge.statistics._quantiles import normal_cdf, normal_quantile, t_cdf, t_quantile
from adjudge.statistics._repeats import fixed_cases_difference, fixed_cases_mean, further_repeats, permutation_p
from adjudge.statistics._sampling import (
    DrawnPairs,
    Stratum,
    corrected_mean,
    labels_to_halve,
    sampled_agreement,
    stratified_mean,
)
from adjudge.statistics._sequential import Side, ThresholdTest
from adjudge.statistics._skewed import SkewedMean

__all__ = [
    "FEW_CLUSTERS",
    "Agreement",
    "Bin",
    "Bootstrap",
    "Clusters",
    "Correction",
    "Design",
    "DrawnPairs",
    "Estimate",
    "Interval",
    "McNemar",
    "Mean",
    "Method",
    "Moments",
    "Range",
    "Reliability",
    "Side",
    "SkewedMean",
    "Stratum",
    "ThresholdTest",
    "agreement",
    "benjamini_hochberg",
    "bootstrap_mean",
    "corrected_mean",
    "estimate_mean",
    "fitting_correction",
    "fixed_cases_difference",
    "fixed_cases_mean",
    "further_repeats",
    "holm",
    "krippendorff_alpha",
    "labels_to_halve",
    "mcnemar",
    "mean_of",
    "minimum_detectable_effect",
    "normal_cdf",
    "normal_quantile",
    "paired_difference",
    "permutation_p",
    "power",
    "prediction_powered",
    "reliability",
    "rogan_gladen",
    "sample_size",
    "sampled_agreement",
    "stratified_mean",
    "t_cdf",
    "t_quantile",
]
