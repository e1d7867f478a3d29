/* A peer of symacct verify in C: cc -o peer peer.c -lm; put your accountant in place of rdp(). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[1 << 20];

/* The number behind the first "name": of the line, nan where there is none. */
static double number(const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *found = strstr(line, key);
    return found ? strtod(found + strlen(key), NULL) : NAN;
}

static double rdp(double alpha, double sigma, double count) {
    return count * alpha / (2 * sigma * sigma);
}

int main(void) {
    while (fgets(line, sizeof line, stdin)) {
        int id = (int)number("id");
        if (strstr(line, "\"ask\": \"hello\""))
            printf("{\"id\": %d, \"peer\": \"mine\", \"version\": \"1\", "
                   "\"supports\": [{\"mechanism\": \"Gaussian\"}]}\n", id);
        else if (strstr(line, "\"ask\": \"rdp\""))
            printf("{\"id\": %d, \"value\": %.17g}\n", id,
                   rdp(number("alpha_float"), number("sigma_float"), number("count")));
        else
            printf("{\"id\": %d, \"unsupported\": \"only rdp\"}\n", id);
        fflush(stdout);
    }
    return 0;
}
