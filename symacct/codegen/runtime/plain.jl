# float64 with Julia's Base: what generated Julia calls. A blank line ends each function.

function log_of(x)
    return x >= 0.0 ? log(x) : NaN
end

function log1p_of(x)
    return x >= -1.0 ? log1p(x) : NaN
end

function root_of(x)
    return x >= 0.0 ? sqrt(x) : NaN
end

function power_of(x, y)
    return x^y
end

function lesser(a, b)
    return (a < b || a != a) ? a : b
end

function greater(a, b)
    return (a > b || a != a) ? a : b
end

# log(e^a + e^b)
function log_add(a, b)
    high, low = a < b ? (b, a) : (a, b)
    if low == -Inf || high == Inf
        return high
    end
    return high + log1p(exp(low - high))
end

# log(1 + e^x)
function log1p_exp(x)
    return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x))
end

# log(e^x - 1), x >= 0
function log_expm1(x)
    return x < 1.0 ? log_of(expm1(x)) : x + log1p_of(-exp(-x))
end

# log(e^x - 1 - x)
function log_exp_gap(x)
    if -0.5 < x && x < 0.5
        total = 1.0
        for k in 16:-1:3
            total = 1.0 + total * x / k
        end
        return log_of(x * x / 2.0 * total)
    end
    return x > 40.0 ? x : log_of(expm1(x) - x)
end

# log(1 + gamma (e^x - 1))
function log_mixture(gamma, x)
    if x > 30.0
        return x + log_of(gamma + (1.0 - gamma) * exp(-x))
    end
    return log1p_of(gamma * expm1(x))
end

# log((1+u)^alpha - 1 - alpha u) for u = gamma (e^x - 1), alpha = lam + 1 > 1
function log_power_gap(gamma, x, lam)
    alpha = lam + 1.0
    log_m = log_mixture(gamma, x)
    grown = lam * log_m
    if log_m > 0.5
        if grown > 700.0
            return log_m + grown
        end
        return log_m + log_of(expm1(grown) + lam * expm1(-log_m))
    end
    u = gamma * expm1(x)
    if abs(u) * alpha < 0.5
        term = alpha * lam / 2.0 * u * u
        total, k = term, 2.0
        while abs(term) > 1e-18 * total
            term = term * ((alpha - k) / (k + 1.0)) * u
            total += term
            k += 1.0
        end
        return log_of(total)
    end
    return log_of((1.0 + u) * expm1(grown) - lam * u)
end

# log((1+u) log(1+u) - u) for u = gamma (e^x - 1)
function log_entropy_gap(gamma, x)
    log_m = log_mixture(gamma, x)
    if log_m > 0.5
        return log_m + log_of(log_m + expm1(-log_m))
    end
    u = gamma * expm1(x)
    if abs(u) < 0.25
        step = u * u
        total, k = step / 2.0, 3.0
        while abs(step) > 1e-18 * total
            step = -step * u
            total += step / (k * (k - 1.0))
            k += 1.0
        end
        return log_of(total)
    end
    return u == -1.0 ? 0.0 : log_of((1.0 + u) * log_m - u)
end

# log C(n, k) for whole n, k
function log_binomial(n, k)
    least = lesser(k, n - k)
    if least < 0.0
        return -Inf
    end
    product, total, i = 1.0, 0.0, 1.0
    while i <= least
        product = product * ((n - least + i) / i)
        if product > 1e280
            total += log(product)
            product = 1.0
        end
        i += 1.0
    end
    return total + log(product)
end

# log n!!, the product n (n-2) (n-4) ...
function log_factorial2(n)
    product, total = 1.0, 0.0
    while n > 1.0
        product = product * n
        if product > 1e280
            total += log(product)
            product = 1.0
        end
        n -= 2.0
    end
    return total + log(product)
end

# The sum e^top total with weight e^x added; top stays near the largest x.
function add_exp(top, total, weight, x)
    if x == -Inf || top == Inf
        return top, total
    end
    if x == Inf
        return x, 1.0
    end
    if x > top + 500.0
        total = total * exp(top - x)
        top = x
    end
    return top, total + weight * exp(x - top)
end

# (weight, scale) of the same weight e^scale, the weight brought near 1.
function rescaled(weight, scale)
    if weight == 0.0 || (1e-30 < weight && weight < 1e30)
        return weight, scale
    end
    return 1.0, scale + log_of(weight)
end
