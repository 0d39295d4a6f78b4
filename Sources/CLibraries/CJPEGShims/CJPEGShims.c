#include "CJPEGShims.h"
