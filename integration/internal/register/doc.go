// Package register is the resource that leaders of a chaos run change: registers that refuse whoever comes with a
// fencing token lower than one that they have met. It lives in the process of the nemesis, to which nothing is done, so
// that whatever goes wrong with it is the candidates' doing.
package register
