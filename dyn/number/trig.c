/* The tables of dyn/number/trig.h, with nearest values (test_dyn_trig checks every entry), and the
 * sine and cosine of f64. */
#include "dyn/number/trig.h"

/* S: sin(2 pi k / 256) in a quarter turn, where the name contains k in octal (S80 comes after S77).
 * H: the values half-way between. All tables consist of these. */
// clang-format off
#define S00 0
#define S01 0.024541228522912288
#define S02 0.049067674327418015
#define S03 0.07356456359966743
#define S04 0.0980171403295606
#define S05 0.1224106751992162
#define S06 0.14673047445536175
#define S07 0.17096188876030122
#define S10 0.19509032201612828
#define S11 0.2191012401568698
#define S12 0.2429801799032639
#define S13 0.26671275747489837
#define S14 0.2902846772544624
#define S15 0.31368174039889146
#define S16 0.33688985339222005
#define S17 0.35989503653498817
#define S20 0.3826834323650898
#define S21 0.40524131400498986
#define S22 0.4275550934302821
#define S23 0.4496113296546066
#define S24 0.47139673682599764
#define S25 0.49289819222978404
#define S26 0.5141027441932218
#define S27 0.5349976198870973
#define S30 0.5555702330196022
#define S31 0.5758081914178453
#define S32 0.5956993044924334
#define S33 0.6152315905806268
#define S34 0.6343932841636455
#define S35 0.6531728429537768
#define S36 0.6715589548470184
#define S37 0.6895405447370669
#define S40 0.7071067811865476
#define S41 0.7242470829514669
#define S42 0.7409511253549591
#define S43 0.7572088465064846
#define S44 0.773010453362737
#define S45 0.7883464276266062
#define S46 0.8032075314806449
#define S47 0.8175848131515837
#define S50 0.8314696123025452
#define S51 0.8448535652497071
#define S52 0.8577286100002721
#define S53 0.8700869911087115
#define S54 0.881921264348355
#define S55 0.8932243011955153
#define S56 0.9039892931234433
#define S57 0.9142097557035307
#define S60 0.9238795325112867
#define S61 0.9329927988347388
#define S62 0.9415440651830208
#define S63 0.9495281805930367
#define S64 0.9569403357322088
#define S65 0.9637760657954398
#define S66 0.970031253194544
#define S67 0.9757021300385286
#define S70 0.9807852804032304
#define S71 0.9852776423889412
#define S72 0.989176509964781
#define S73 0.99247953459871
#define S74 0.9951847266721969
#define S75 0.9972904566786902
#define S76 0.9987954562051724
#define S77 0.9996988186962042
#define S80 1

/* H: the values half a step after S. */
#define H00 0.012271538285719925
#define H01 0.03680722294135883
#define H02 0.06132073630220858
#define H03 0.0857973123444399
#define H04 0.11022220729388306
#define H05 0.13458070850712617
#define H06 0.15885814333386145
#define H07 0.18303988795514095
#define H10 0.20711137619221856
#define H11 0.2310581082806711
#define H12 0.25486565960451457
#define H13 0.27851968938505306
#define H14 0.3020059493192281
#define H15 0.3253102921622629
#define H16 0.34841868024943456
#define H17 0.37131719395183754
#define H20 0.3939920400610481
#define H21 0.41642956009763715
#define H22 0.43861623853852766
#define H23 0.46053871095824
#define H24 0.4821837720791227
#define H25 0.5035383837257176
#define H26 0.524589682678469
#define H27 0.5453249884220465
#define H30 0.5657318107836131
#define H31 0.5857978574564389
#define H32 0.6055110414043255
#define H33 0.6248594881423863
#define H34 0.6438315428897914
#define H35 0.6624157775901718
#define H36 0.680600997795453
#define H37 0.6983762494089729
#define H40 0.7157308252838186
#define H41 0.7326542716724128
#define H42 0.7491363945234593
#define H43 0.765167265622459
#define H44 0.7807372285720944
#define H45 0.7958369046088835
#define H46 0.8104571982525948
#define H47 0.8245893027850253
#define H50 0.838224705554838
#define H51 0.8513551931052652
#define H52 0.8639728561215867
#define H53 0.8760700941954066
#define H54 0.8876396204028539
#define H55 0.8986744656939538
#define H56 0.9091679830905223
#define H57 0.9191138516900578
#define H60 0.9285060804732155
#define H61 0.937339011912575
#define H62 0.9456073253805213
#define H63 0.9533060403541938
#define H64 0.9604305194155658
#define H65 0.9669764710448521
#define H66 0.9729399522055601
#define H67 0.9783173707196277
#define H70 0.9831054874312163
#define H71 0.9873014181578584
#define H72 0.99090263542778
#define H73 0.9939069700023561
#define H74 0.996312612182778
#define H75 0.9981181129001492
#define H76 0.9993223845883495
#define H77 0.9999247018391445

/* An eighth of a quarter turn, upwards from Sa0 or downwards from Sb0 = S(a+1)0. FINEST has every
 * sine and the values half-way between, FINE every sine, COARSE every other one. */
#define FINE_UP(V, s, a, b)     V(s S##a##0) V(s S##a##1) V(s S##a##2) V(s S##a##3) \
                                V(s S##a##4) V(s S##a##5) V(s S##a##6) V(s S##a##7)
#define FINE_DOWN(V, s, a, b)   V(s S##b##0) V(s S##a##7) V(s S##a##6) V(s S##a##5) \
                                V(s S##a##4) V(s S##a##3) V(s S##a##2) V(s S##a##1)
#define FINEST_UP(V, s, a, b)   V(s S##a##0) V(s H##a##0) V(s S##a##1) V(s H##a##1) V(s S##a##2) V(s H##a##2) \
                                V(s S##a##3) V(s H##a##3) V(s S##a##4) V(s H##a##4) V(s S##a##5) V(s H##a##5) \
                                V(s S##a##6) V(s H##a##6) V(s S##a##7) V(s H##a##7)
#define FINEST_DOWN(V, s, a, b) V(s S##b##0) V(s H##a##7) V(s S##a##7) V(s H##a##6) V(s S##a##6) V(s H##a##5) \
                                V(s S##a##5) V(s H##a##4) V(s S##a##4) V(s H##a##3) V(s S##a##3) V(s H##a##2) \
                                V(s S##a##2) V(s H##a##1) V(s S##a##1) V(s H##a##0)
#define COARSE_UP(V, s, a, b)   V(s S##a##0) V(s S##a##2) V(s S##a##4) V(s S##a##6)
#define COARSE_DOWN(V, s, a, b) V(s S##b##0) V(s S##a##6) V(s S##a##4) V(s S##a##2)

#define UP(PART, V, s)   PART(V, s, 0, 1) PART(V, s, 1, 2) PART(V, s, 2, 3) PART(V, s, 3, 4) \
                         PART(V, s, 4, 5) PART(V, s, 5, 6) PART(V, s, 6, 7) PART(V, s, 7, 8)
#define DOWN(PART, V, s) PART(V, s, 7, 8) PART(V, s, 6, 7) PART(V, s, 5, 6) PART(V, s, 4, 5) \
                         PART(V, s, 3, 4) PART(V, s, 2, 3) PART(V, s, 1, 2) PART(V, s, 0, 1)

/* One turn and the first quarter of the next. */
#define WAVE(V, STEP) UP(STEP##_UP, V, +) DOWN(STEP##_DOWN, V, +) UP(STEP##_UP, V, -) \
                      DOWN(STEP##_DOWN, V, -) UP(STEP##_UP, V, +)

#define F32(x) (float)(x),
#define F64(x) (double)(x),
#define Q30(x) (int32_t)((x) * 1073741824.0 + ((x) < 0 ? -0.5 : 0.5)),
// clang-format on

const float dyn_sine_f32[512 + 128] = {WAVE(F32, FINEST)};
const double dyn_sine_f64[128 + 32] = {WAVE(F64, COARSE)};
const int32_t dyn_sine_q30[256 + 64] = {WAVE(Q30, FINE)};

void dyn_sincos_f64(double x, double *cosine, double *sine) {
    union {
        double f;
        uint64_t u;
    } t = {.f = x * 20.371832715762604 + 6755399441055744.0};
    const double *entry = &dyn_sine_f64[(uint32_t)t.u & 127u];
    double k = t.f - 6755399441055744.0;
    double S = entry[0], C = entry[32];
    double r = (x - k * 0x1.921fb54400000p-5) - k * 0x1.0b4611a626331p-39;
    double r2 = r * r;
    double s = r + r * (r2 * (r2 * (1.0 / 120 - r2 * (1.0 / 5040)) - 1.0 / 6));
    double h = r2 * (0.5 - r2 * (1.0 / 24 - r2 * (1.0 / 720))); /* 1 - cos r */
    *sine = S + (C * s - S * h);
    *cosine = C - (S * s + C * h);
}
