/*
 * Code generated for one arm, if the build has it. `make BOARD=x ROBOT=y GEN=1` defines, for the
 * number type of the control loop only:
 *
 *     GENERATED_H      its header
 *     GENERATED_HASH   image_model_hash of the robot image that it was made from
 *     GENERATED_FIXED  whether that hash includes units and limits
 */
#ifndef FIRMWARE_CONTROL_GENERATED_H
#define FIRMWARE_CONTROL_GENERATED_H

#ifdef GENERATED_H
#include GENERATED_H
#define GENERATED_PASTE_(real, name) gen_##real##_##name
#define GENERATED_PASTE(real, name)  GENERATED_PASTE_(real, name)
#define GENERATED(name)              GENERATED_PASTE(DYN_REAL, name)
#define GENERATED_FITS(image)        (image_model_hash(image, GENERATED_FIXED) == GENERATED_HASH)
#endif

#endif
