/*
 * Equations (1) to (10) of Swartz written by hand in float, as a careful programmer who needs only
 * floats would write them. Frames, constants, the table for sine and cosine and the order of sums
 * are the same as in the kernel, so that the torques agree bit for bit. The first and the last link
 * are written out without their zero terms.
 */
#include "test/support/dyn/dyn_yardstick.h"

#include "dyn/number/trig.h"

void dyn_yardstick_inverse(const dyn_arm_f32_t *arm, dyn_ne_scratch_f32_t *scratch, const float q[],
                           const float qd[], const float qdd[], float tau[]) {
    const dyn_joint_f32_t *j = &arm->joint[0];
    const uint32_t n = arm->n;
    float wx = 0, wy = 0, wz = 0, ux = 0, uy = 0, uz = 0, vx, vy,
          vz; /* angular velocity w, its rate wd, linear acceleration vd */
    float F0z, n0z;

    {
        float c = j->fixed_z.c, s = j->fixed_z.s;
        const float gx = arm->base_acceleration.x, gy = arm->base_acceleration.y;
        if (!j->prismatic)
            dyn_sincos_f32(q[0] + j->offset, &c, &s);
        vx = c * gx + s * gy;
        vy = c * gy - s * gx;
        vz = arm->base_acceleration.z;
        if (j->prismatic) {
            vz += qdd[0];
        } else {
            wz = qd[0];
            uz = qdd[0];
        }
        const float sx = j->s.x, sy = j->s.y;
        float kx = -(wz * sy), ky = wz * sx;
        float ax = vx + (-(uz * sy) - wz * ky);
        float ay = vy + (uz * sx + wz * kx);
        float Fx = j->m * ax, Fy = j->m * ay;
        F0z = j->m * vz;
        n0z = j->J.zz * uz + (sx * Fy - sy * Fx);
    }

    for (uint32_t i = 1; i < n; i++) {
        dyn_ne_link_f32_t *link = &scratch->link[i];
        j = &arm->joint[i];
        float c = j->fixed_z.c, s = j->fixed_z.s, d = j->fixed_d;
        if (j->prismatic)
            d = j->offset + q[i];
        else
            dyn_sincos_f32(q[i] + j->offset, &c, &s);
        link->z.c = c;
        link->z.s = s;
        link->d = d;

        const float ca = j->x.c, sa = j->x.s, a = j->a;
        float why = ca * wy + sa * wz, whz = ca * wz - sa * wy;
        float uhy = ca * uy + sa * uz, uhz = ca * uz - sa * uy;
        float vhy = ca * vy + sa * vz, vhz = ca * vz - sa * vy;

        float kx = why * d, ky = whz * a - wx * d, kz = -(why * a);
        float vhx = vx + ((uhy * d + why * kz) - whz * ky);
        vhy += ((uhz * a - ux * d) + whz * kx) - wx * kz;
        vhz += (-(uhy * a) + wx * ky) - why * kx;

        float t = c * wx + s * why;
        wy = c * why - s * wx;
        wx = t;
        wz = whz;
        t = c * ux + s * uhy;
        uy = c * uhy - s * ux;
        ux = t;
        uz = uhz;
        vx = c * vhx + s * vhy;
        vy = c * vhy - s * vhx;
        vz = vhz;

        if (j->prismatic) {
            float qd2 = qd[i] + qd[i];
            vx += wy * qd2;
            vy -= wx * qd2;
            vz += qdd[i];
        } else {
            ux += wy * qd[i];
            uy -= wx * qd[i];
            uz += qdd[i];
            wz += qd[i];
        }

        const float sx = j->s.x, sy = j->s.y, sz = j->s.z, m = j->m;
        kx = wy * sz - wz * sy;
        ky = wz * sx - wx * sz;
        kz = wx * sy - wy * sx;
        float Fx = m * (vx + (((uy * sz - uz * sy) + wy * kz) - wz * ky));
        float Fy = m * (vy + (((uz * sx - ux * sz) + wz * kx) - wx * kz));
        float Fz = m * (vz + (((ux * sy - uy * sx) + wx * ky) - wy * kx));

        const dyn_sym_f32_t *J = &j->J;
        float hx = J->xx * wx + J->xy * wy + J->xz * wz;
        float hy = J->xy * wx + J->yy * wy + J->yz * wz;
        float hz = J->xz * wx + J->yz * wy + J->zz * wz;
        float Nx = ((J->xx * ux + J->xy * uy + J->xz * uz) + wy * hz) - wz * hy;
        float Ny = ((J->xy * ux + J->yy * uy + J->yz * uz) + wz * hx) - wx * hz;
        float Nz = ((J->xz * ux + J->yz * uy + J->zz * uz) + wx * hy) - wy * hx;
        link->F.x = Fx;
        link->F.y = Fy;
        link->F.z = Fz;
        link->n.x = Nx + (sy * Fz - sz * Fy);
        link->n.y = Ny + (sz * Fx - sx * Fz);
        link->n.z = Nz + (sx * Fy - sy * Fx);
    }

    float fx = 0, fy = 0, fz = 0, nx = 0, ny = 0, nz = 0;
    for (uint32_t i = n - 1; i > 0; i--) {
        const dyn_ne_link_f32_t *link = &scratch->link[i];
        j = &arm->joint[i];
        if (i == n - 1) {
            fx = link->F.x;
            fy = link->F.y;
            fz = link->F.z;
            nx = link->n.x;
            ny = link->n.y;
            nz = link->n.z;
        } else {
            fx += link->F.x;
            fy += link->F.y;
            fz += link->F.z;
            nx += link->n.x;
            ny += link->n.y;
            nz += link->n.z;
        }
        tau[i] = j->prismatic ? fz : nz;

        const float c = link->z.c, s = link->z.s, d = link->d, a = j->a;
        float hx = c * fx - s * fy, hy = c * fy + s * fx;
        float mx = c * nx - s * ny - hy * d;
        float my = c * ny + s * nx + (hx * d - fz * a);
        float mz = nz + a * hy;
        const float ca = j->x.c, sa = j->x.s;
        fx = hx;
        fy = ca * hy - sa * fz;
        fz = ca * fz + sa * hy;
        nx = mx;
        ny = ca * my - sa * mz;
        nz = ca * mz + sa * my;
    }
    tau[0] = arm->joint[0].prismatic ? F0z + fz : n0z + nz;
}
