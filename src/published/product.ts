/** The name and version of this software, as documents name it. The version is that of `package.json`. */
export const PRODUCT = 'Screening service 0.1.0';
