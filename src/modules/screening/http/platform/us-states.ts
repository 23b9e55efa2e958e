/** Postal codes of the states, the district, the territories, the states in free association, and the military "states". */
export const US_STATES: readonly string[] = (
  'AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY ' +
  'AS GU MP PR VI FM MH PW AA AE AP'
).split(' ');
