/* float64 with <math.h>: what generated C calls. A blank line ends each function. */

static double lesser(double a, double b) {
    return a < b || a != a ? a : b;
}

static double greater(double a, double b) {
    return a > b || a != a ? a : b;
}

/* log(e^a + e^b) */
static double log_add(double a, double b) {
    double high = a < b ? b : a, low = a < b ? a : b;
    if (low == -INFINITY || high == INFINITY)
        return high;
    return high + log1p(exp(low - high));
}

/* log(1 + e^x) */
static double log1p_exp(double x) {
    return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* log(e^x - 1), x >= 0 */
static double log_expm1(double x) {
    return x < 1.0 ? log(expm1(x)) : x + log1p(-exp(-x));
}

/* log(e^x - 1 - x) */
static double log_exp_gap(double x) {
    if (-0.5 < x && x < 0.5) {
        double total = 1.0;
        for (int k = 16; k > 2; k--)
            total = 1.0 + total * x / k;
        return 2.0 * log(fabs(x)) + log(total / 2.0);
    }
    return x > 40.0 ? x : log(expm1(x) - x);
}

/* log(1 + gamma (e^x - 1)) */
static double log_mixture(double gamma, double x) {
    if (x > 30.0)
        return x + log(gamma + (1.0 - gamma) * exp(-x));
    return log1p(gamma * expm1(x));
}

/* log((1+u)^alpha - 1 - alpha u) for u = gamma (e^x - 1), alpha = lam + 1 > 1 */
static double log_power_gap(double gamma, double x, double lam) {
    double alpha = lam + 1.0, u, grown;
    double log_m = log_mixture(gamma, x);
    grown = lam * log_m;
    if (log_m > 0.5) {
        if (grown > 700.0)
            return log_m + grown;
        return log_m + log(expm1(grown) + lam * expm1(-log_m));
    }
    u = gamma * expm1(x);
    if (fabs(u) * alpha < 0.5) {
        double term = alpha * lam / 2.0 * u * u, total = term, k = 2.0;
        while (fabs(term) > 1e-18 * total) {
            term = term * ((alpha - k) / (k + 1.0)) * u;
            total += term;
            k += 1.0;
        }
        return log(total);
    }
    return log((1.0 + u) * expm1(grown) - lam * u);
}

/* log((1+u) log(1+u) - u) for u = gamma (e^x - 1) */
static double log_entropy_gap(double gamma, double x) {
    double log_m = log_mixture(gamma, x);
    double u;
    if (log_m > 0.5)
        return log_m + log(log_m + expm1(-log_m));
    u = gamma * expm1(x);
    if (fabs(u) < 0.25) {
        double step = u * u, total = step / 2.0, k = 3.0;
        while (fabs(step) > 1e-18 * total) {
            step = -step * u;
            total += step / (k * (k - 1.0));
            k += 1.0;
        }
        return log(total);
    }
    return u == -1.0 ? 0.0 : log((1.0 + u) * log_m - u);
}

/* log C(n, k) for whole n, k */
static double log_binomial(double n, double k) {
    double least = lesser(k, n - k), product = 1.0, total = 0.0, i;
    if (least < 0.0)
        return -INFINITY;
    for (i = 1.0; i <= least; i += 1.0) {
        product = product * ((n - least + i) / i);
        if (product > 1e280) {
            total += log(product);
            product = 1.0;
        }
    }
    return total + log(product);
}

/* log n!!, the product n (n-2) (n-4) ... */
static double log_factorial2(double n) {
    double product = 1.0, total = 0.0;
    for (; n > 1.0; n -= 2.0) {
        product = product * n;
        if (product > 1e280) {
            total += log(product);
            product = 1.0;
        }
    }
    return total + log(product);
}

/* Add weight e^x to the sum e^top total; top stays near the largest x. */
static void add_exp(double *top, double *total, double weight, double x) {
    if (x == -INFINITY || *top == INFINITY)
        return;
    if (x == INFINITY) {
        *top = x;
        *total = 1.0;
        return;
    }
    if (x > *top + 500.0) {
        *total = *total * exp(*top - x);
        *top = x;
    }
    *total += weight * exp(x - *top);
}

/* The same weight e^scale, the weight brought near 1. */
static void rescale(double *weight, double *scale) {
    if (*weight == 0.0 || (1e-30 < *weight && *weight < 1e30))
        return;
    *scale += log(*weight);
    *weight = 1.0;
}
