/* Converts decimal numbers exactly with 128-bit integers; rare cases go to the C library. */
#include "tools/cli/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide_t;

static const uint64_t ten[20] = {1u,
                                 10u,
                                 100u,
                                 1000u,
                                 10000u,
                                 100000u,
                                 1000000u,
                                 10000000u,
                                 100000000u,
                                 1000000000u,
                                 10000000000u,
                                 100000000000u,
                                 1000000000000u,
                                 10000000000000u,
                                 100000000000000u,
                                 1000000000000000u,
                                 10000000000000000u,
                                 100000000000000000u,
                                 1000000000000000000u,
                                 10000000000000000000u};

/*
 * Returns w / 10^k for 0 < w < 2^64 and 0 <= k <= 19. Both numbers are shifted to the left ends of
 * their words, so the quotient has at least 63 bits. Its last bit is set if there is a remainder
 * (sticky bit). So the conversion to double rounds only once, to 53 bits.
 */
static double quotient(uint64_t w, int k) {
    const int up_w = __builtin_clzll(w), up_d = __builtin_clzll(ten[k]);
    const wide_t n = (wide_t)(w << up_w) << 63;
    const uint64_t d = ten[k] << up_d;
    const uint64_t q = (uint64_t)(n / d), sticky = n % d != 0;
    return ldexp((double)(q | sticky), up_d - up_w - 63);
}

typedef struct {
    uint64_t w;   /* the digits as an integer */
    int digits;   /* number of digits without leading zeros */
    int exponent; /* the value is w 10^exponent */
    const char *end;
} decimal_t;

static const char *scan_digits(const char *s, decimal_t *d) {
    for (; *s >= '0' && *s <= '9'; s++) {
        if (d->digits > 0 || *s != '0') {
            /* 19 digits fit a word. Further digits are only counted; numbers with more digits are
             * converted by the C library. */
            if (d->digits < 19)
                d->w = d->w * 10 + (uint64_t)(*s - '0');
            d->digits++;
        }
    }
    return s;
}

static bool scan_decimal(const char *s, decimal_t *d) {
    const char *begin = s;
    s = scan_digits(s, d);
    ptrdiff_t seen = s - begin;
    if (*s == '.') {
        const char *point = ++s;
        s = scan_digits(s, d);
        seen += s - point;
        d->exponent = s - point < 10000 ? -(int)(s - point) : -10000;
    }
    if (seen == 0)
        return false;
    d->end = s;
    if (*s == 'e' || *s == 'E') {
        s++;
        const bool minus = *s == '-';
        if (*s == '-' || *s == '+')
            s++;
        if (*s < '0' || *s > '9')
            return true; /* like strtod, "2e" reads as 2 and leaves the "e" */
        int e = 0;
        for (; *s >= '0' && *s <= '9'; s++)
            e = e < 100000 ? e * 10 + (*s - '0') : e;
        d->exponent += minus ? -e : e;
        d->end = s;
    }
    return true;
}

const char *number_scan(const char *text, double *value) {
    const char *s = text;
    const bool minus = *s == '-';
    decimal_t d = {0};
    if (*s == '-' || *s == '+')
        s++;
    if (!scan_decimal(s, &d))
        return NULL;
    double size;
    if (d.w == 0)
        size = 0;
    else if (d.digits <= 19 && d.exponent <= 0 && d.exponent >= -19)
        size = quotient(d.w, -d.exponent);
    else
        size = strtod(s, NULL);
    *value = minus ? -size : size;
    return d.end;
}

/* ------------------------------------------------------------------------------------- printing */

/* Returns value 10^p for value = m 2^-shift, rounded to nearest with ties to even; p <= 22, shift <
 * 128. */
static uint64_t scaled(uint64_t m, int shift, int p) {
    const wide_t product = p <= 19 ? (wide_t)m * ten[p] : (wide_t)m * ten[19] * ten[p - 19];
    const wide_t whole = product >> shift, half = (wide_t)1 << (shift - 1);
    const wide_t rest = product - (whole << shift);
    return (uint64_t)whole + (rest > half || (rest == half && (whole & 1)));
}

static size_t put_digits(char *out, uint64_t number, int digits, int exponent) {
    char text[20] = "0";
    size_t used = 0;
    for (int i = digits; i-- > 0; number /= 10)
        text[i] = (char)('0' + number % 10);
    while (digits > 1 && text[digits - 1] == '0')
        digits--;
    if (exponent < -4) {
        out[used++] = text[0];
        if (digits > 1) {
            out[used++] = '.';
            memcpy(out + used, text + 1, (size_t)digits - 1);
            used += (size_t)digits - 1;
        }
        out[used++] = 'e';
        out[used++] = '-';
        out[used++] = '0';
        out[used++] = (char)('0' - exponent);
        return used;
    }
    if (exponent < 0) {
        out[used++] = '0';
        out[used++] = '.';
        for (; exponent < -1; exponent++)
            out[used++] = '0';
        memcpy(out + used, text, (size_t)digits);
        return used + (size_t)digits;
    }
    for (int i = 0; i <= exponent || i < digits; i++) {
        if (i == exponent + 1)
            out[used++] = '.';
        out[used++] = i < digits ? text[i] : '0';
    }
    return used;
}

size_t number_print(char out[NUMBER_ROOM], double value, int digits) {
    const double size = fabs(value);
    int e;
    /* In this range the mantissa times the power of ten fits 128 bits, even if the exponent guessed
     * below is one too low. */
    if (!(size >= 1e-5 && size < 1e8))
        return (size_t)snprintf(out, NUMBER_ROOM, "%.*g", digits, value);
    const uint64_t m = (uint64_t)ldexp(frexp(size, &e), 53);
    int exponent = (int)floor((e - 1) * 0.30103);
    uint64_t number = scaled(m, 53 - e, digits - 1 - exponent);
    /* The guessed exponent is correct or one too low. Rounding up to the next power of ten is
     * handled here too. */
    if (number >= ten[digits]) {
        exponent++;
        number = scaled(m, 53 - e, digits - 1 - exponent);
    }
    size_t used = 0;
    if (value < 0)
        out[used++] = '-';
    return used + put_digits(out + used, number, digits, exponent);
}
