/* cc -O2 runner.c -lm && ./a.out FILE [TOLERANCE]: what is answered outside of a vectors file's ends.
   The accountant is `rdp` below, float64: put yours in its place. NAN says that it does not answer. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* Gaussian noise, on a Poisson sample where the rate is below 1: whole orders from 2 on. */
static double rdp(double sigma, double sensitivity, double rate, double order, double count) {
    double s = sensitivity / sigma, binomial = 0, top = -DBL_MAX, sum = 0;
    if (rate == 1) return count * order * s * s / 2;
    if (order < 2 || order != floor(order)) return NAN;
    for (double k = 1; k <= order; k++) { /* log of C(a,k) (1-q)^(a-k) q^k (e^((k^2-k)s^2/2) - 1) */
        double x = (k * k - k) * s * s / 2;
        binomial += log((order - k + 1) / k);
        if (k == 1 || x == 0) continue;
        double term = binomial + k * log(rate) + (order - k) * log1p(-rate);
        term += x < 1 ? log(expm1(x)) : x + log1p(-exp(-x));
        sum = term > top ? sum * exp(top - term) + 1 : sum + exp(term - top);
        top = fmax(top, term);
    }
    top += log(sum); /* log(A - 1), -infinity where x is 0 throughout */
    return count * (top < 0 ? log1p(exp(top)) : top + log1p(exp(-top))) / (order - 1);
}
/* A number by its name in a line; of a double's two forms the one in base 16. */
static double number(const char *line, const char *name, double absent) {
    char quoted[32];
    int length = snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = strstr(line, quoted);
    return !at ? absent : strtod(*(at += length) == '[' ? strchr(at, ',') + 2 : at + (*at == '"'), NULL);
}
int main(int argc, char **argv) {
    static char line[1 << 16];
    double tolerance = argc > 2 ? atof(argv[2]) : 1e-9;
    long asked = 0, answered = 0, outside = 0;
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!file) return fprintf(stderr, "needed: a vectors file\n"), 2;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "{\"n\":", 5) || !++asked) continue;
        if (strstr(line, "},{") || !strstr(line, "\"gaussian\"") || strstr(line, "replace_one")) continue;
        double found = rdp(number(line, "sigma", NAN), number(line, "sensitivity", 1), number(line, "rate", 1),
                           number(line, "order", NAN), number(line, "count", 1));
        double low = number(line, "lower", NAN), high = number(line, "upper", NAN);
        int is_outside = fabs(found - low) > tolerance * high + 0x1p-1022;
        answered += !isnan(found), outside += is_outside;
        if (is_outside) printf("outside: n=%.0f found %.17g, needed %.17g\n", number(line, "n", NAN), found, low);
    }
    printf("%ld asked, %ld answered, %ld outside of 1 +- %g\n", asked, answered, outside, tolerance);
    return answered ? outside > 0 : (fputs("nothing was answered\n", stderr), 2);
}
