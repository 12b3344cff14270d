/* Checks of the elastic side of an arm, and the places of its coordinates in Theta. Set-up only. */
#include "dyn/model/flex_model.h"

#include <math.h>

uint32_t dyn_flex_modes(const dyn_flex_link_t *link) {
    return link->modes[DYN_FLEX_XY] + link->modes[DYN_FLEX_XZ] + link->modes[DYN_FLEX_TORSION];
}

uint32_t dyn_flex_index(const dyn_flex_model_t *flex, uint32_t i) {
    uint32_t at = i;
    for (uint32_t k = 0; k < i; k++)
        at += dyn_flex_modes(&flex->link[k]);
    return at;
}

uint32_t dyn_flex_size(const dyn_model_t *model, const dyn_flex_model_t *flex) {
    return dyn_flex_index(flex, model->n);
}

/* Factorises A = L L^T on the lower triangle. Returns false if A is not positive definite, or if a
 * pivot is only rounding error, which happens when two mode shapes are the same. */
static bool cholesky(uint32_t n, double a[][DYN_FLEX_LINK_MODES]) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double sum = a[i][j];
            for (uint32_t k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            if (i == j && !(sum > 1e-12 * a[i][i]))
                return false;
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
    return true;
}

bool dyn_flex_invert(uint32_t n, double a[][DYN_FLEX_LINK_MODES]) {
    if (!cholesky(n, a))
        return false;
    /* L^-1 replaces L, row by row ... */
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < i; j++) {
            double sum = 0;
            for (uint32_t k = j; k < i; k++)
                sum -= a[i][k] * a[k][j];
            a[i][j] = sum / a[i][i];
        }
        a[i][i] = 1 / a[i][i];
    }
    /* ... then A^-1 = L^-T L^-1 goes into the upper triangle and is copied to the lower one. */
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double sum = 0;
            for (uint32_t k = i; k < n; k++)
                sum += a[k][i] * a[k][j];
            a[j][i] = sum;
        }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            a[i][j] = a[j][i];
    return true;
}

static bool mode_finite(const dyn_flex_mode_t *mode, uint32_t modes) {
    bool good = isfinite(mode->tip) && isfinite(mode->slope) && isfinite(mode->weight) &&
                isfinite(mode->moment);
    for (uint32_t k = 0; k < modes; k++)
        good = good && isfinite(mode->mass[k]) && isfinite(mode->stiffness[k]);
    return good;
}

static int check_link(const dyn_flex_link_t *link) {
    const uint32_t modes = dyn_flex_modes(link);
    double stiffness[DYN_FLEX_LINK_MODES][DYN_FLEX_LINK_MODES];
    if (!isfinite(link->length) || !isfinite(link->damping))
        return DYN_E_NUMBER;
    for (uint32_t f = 0; f < modes; f++) {
        if (!mode_finite(&link->mode[f], modes))
            return DYN_E_NUMBER;
        for (uint32_t k = 0; k < modes; k++)
            stiffness[f][k] = link->mode[f].stiffness[k];
    }
    return cholesky(modes, stiffness) ? DYN_OK : DYN_E_PIVOT;
}

int dyn_flex_check(const dyn_model_t *model, const dyn_flex_model_t *flex) {
    uint32_t size = model->n;
    if (model->n < 1 || model->n > DYN_FLEX_MAX_JOINTS)
        return DYN_E_JOINTS;
    for (uint32_t i = 0; i < model->n; i++) {
        const dyn_flex_link_t *link = &flex->link[i];
        uint32_t modes = 0;
        /* Each number is checked alone, because the sum of the three could wrap around. */
        for (int kind = 0; kind < DYN_FLEX_KINDS; kind++) {
            if (link->modes[kind] > DYN_FLEX_LINK_MODES)
                return DYN_E_JOINTS;
            modes += link->modes[kind];
        }
        size += modes;
        if (modes > DYN_FLEX_LINK_MODES || size > DYN_FLEX_MAX)
            return DYN_E_JOINTS;
        if (modes == 0)
            continue;
        const int status = check_link(link);
        if (status != DYN_OK)
            return status;
        /* The length of a beam must be the next joint's a; both may have been rounded to single
         * precision. */
        if (i + 1 < model->n &&
            !(fabs(model->joint[i + 1].a - link->length) <= 1e-6 * fabs(link->length)))
            return DYN_E_BASE;
    }
    return DYN_OK;
}
