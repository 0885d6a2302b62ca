export default {
  pack: { id: 'billing', version: '1.0.0', description: 'Adds up invoices with the VAT of a country.' },
};
