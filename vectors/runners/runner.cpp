// c++ -std=c++17 runner.cpp && ./a.out FILE [TOLERANCE]: what is answered outside of a file's ends.
// The accountant is `rdp` below, float64: put yours in its place. NAN says that it does not answer.
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
// Gaussian noise, on a Poisson sample where the rate is below 1: whole orders from 2 on.
double rdp(double sigma, double sensitivity, double rate, double order, double count) {
    double s = sensitivity / sigma, binomial = 0, top = -DBL_MAX, sum = 0;
    if (rate == 1) return count * order * s * s / 2;
    if (order < 2 || order != std::floor(order)) return NAN;
    for (double k = 1; k <= order; k++) {  // log of C(a,k) (1-q)^(a-k) q^k (e^((k^2-k)s^2/2) - 1)
        double x = (k * k - k) * s * s / 2;
        binomial += std::log((order - k + 1) / k);
        if (k == 1 || x == 0) continue;
        double term = binomial + k * std::log(rate) + (order - k) * std::log1p(-rate);
        term += x < 1 ? std::log(std::expm1(x)) : x + std::log1p(-std::exp(-x));
        sum = term > top ? sum * std::exp(top - term) + 1 : sum + std::exp(term - top);
        top = std::fmax(top, term);
    }
    top += std::log(sum);  // log(A - 1), -infinity where x is 0 throughout
    return count * (top < 0 ? std::log1p(std::exp(top)) : top + std::log1p(std::exp(-top))) / (order - 1);
}
// A number by its name in a line; of a double's two forms the one in base 16.
double number(const std::string& line, const std::string& name, double absent = NAN) {
    auto at = line.find("\"" + name + "\":");
    if (at == std::string::npos) return absent;
    at += name.size() + 3;
    return std::strtod(line.c_str() + (line[at] == '[' ? line.find(',', at) + 2 : at + (line[at] == '"')), nullptr);
}
int main(int argc, char** argv) {
    std::ifstream file(argc > 1 ? argv[1] : "");
    double tolerance = argc > 2 ? std::atof(argv[2]) : 1e-9;
    long asked = 0, answered = 0, outside = 0;
    if (!file) return std::cerr << "needed: a vectors file\n", 2;
    for (std::string line; std::getline(file, line);) {
        auto has = [&](const char* what) { return line.find(what) != std::string::npos; };
        if (line.rfind("{\"n\":", 0) || !++asked) continue;
        if (has("},{") || !has("\"gaussian\"") || has("replace_one")) continue;
        double found = rdp(number(line, "sigma"), number(line, "sensitivity", 1), number(line, "rate", 1),
                           number(line, "order"), number(line, "count", 1));
        double low = number(line, "lower"), slack = tolerance * number(line, "upper") + 0x1p-1022;
        bool is_outside = std::abs(found - low) > slack;
        answered += !std::isnan(found), outside += is_outside;
        if (is_outside) std::cout << "outside: n=" << number(line, "n") << " found " << found << ", needed " << low << "\n";
    }
    std::cout << asked << " asked, " << answered << " answered, " << outside << " outside of 1 +- " << tolerance << "\n";
    return answered ? outside > 0 : (std::cerr << "nothing was answered\n", 2);
}
