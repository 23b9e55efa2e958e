import { certify } from '../../vendor-kit/certification/certify.js';
import { double, personas } from './double/certified.js';
import { vendor } from './vendor.js';

await certify(vendor, double, personas);
