(** Real orders: sampled noise by integrals over an interval, and bounds for their tails. *)

From Coq Require Import Reals Lra Lia ZArith.
From Coquelicot Require Import Coquelicot.
From Symacct Require Import FiniteLaws Published.
Open Scope R_scope.

(** * Integrals *)

Lemma integrable (f : R -> R) (a b : R) : (forall z, continuous f z) -> ex_RInt f a b.
Proof. intro H. apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros z _. apply H. Qed.

Lemma smooth (f : R -> R) (z : R) : ex_derive f z -> continuous f z.
Proof. exact (ex_derive_continuous (V := R_NormedModule) f z). Qed.

(** An integral is bounded by any antiderivative of anything larger. *)
Lemma integral_below (f g G : R -> R) (a b : R) :
  a <= b -> (forall z, continuous f z) -> (forall z, continuous g z) ->
  (forall z, is_derive G z (g z)) -> (forall z, a < z < b -> f z <= g z) ->
  RInt f a b <= G b - G a.
Proof.
  intros L Cf Cg D H.
  assert (I : is_RInt g a b (minus (G b) (G a))).
  { apply (is_RInt_derive (V := R_CompleteNormedModule)); intros z _; [apply D | apply Cg]. }
  apply (is_RInt_unique (V := R_CompleteNormedModule)) in I.
  change (minus (G b) (G a)) with (G b - G a) in I.
  rewrite <- I. apply RInt_le; auto using integrable.
Qed.

(** The part within an interval, and what is to the left and to the right of it. *)
Lemma three_parts (f : R -> R) (a b left right : R) :
  a <= b -> (forall z, continuous f z) -> (forall z, 0 <= f z) ->
  (forall l, l <= a -> RInt f l a <= left) -> (forall u, b <= u -> RInt f b u <= right) ->
  integral_at_most f (left + RInt f a b + right).
Proof.
  intros H C P HL HR l u K.
  set (l' := Rmin l a). set (u' := Rmax u b).
  assert (A1 : l' <= l) by apply Rmin_l. assert (A2 : l' <= a) by apply Rmin_r.
  assert (B1 : u <= u') by apply Rmax_l. assert (B2 : b <= u') by apply Rmax_r.
  assert (I : forall x y, ex_RInt f x y) by (intros; now apply integrable).
  assert (E : forall x y, x <= y -> 0 <= RInt f x y)
    by (intros; apply RInt_ge_0; auto).
  assert (S1 : RInt f l' u' = RInt f l' l + RInt f l u + RInt f u u').
  { rewrite <- (RInt_Chasles f l' l u') by apply I.
    rewrite <- (RInt_Chasles f l u u') by apply I. unfold plus; simpl. ring. }
  assert (S2 : RInt f l' u' = RInt f l' a + RInt f a b + RInt f b u').
  { rewrite <- (RInt_Chasles f l' a u') by apply I.
    rewrite <- (RInt_Chasles f a b u') by apply I. unfold plus; simpl. ring. }
  pose proof (E l' l A1). pose proof (E u u' B1).
  pose proof (HL l' A2). pose proof (HR u' B2). lra.
Qed.

Lemma integral_at_most_le f a b : a <= b -> integral_at_most f a -> integral_at_most f b.
Proof. intros H I l u K. specialize (I l u K). lra. Qed.

(** * The mixture's ratio *)

Section Noise.
Variable s gamma alpha : R.
Hypothesis shift : 0 < s.
Hypothesis rate : 0 <= gamma <= 1.
Hypothesis order : 1 < alpha.

Lemma ratio_positive t : 0 < 1 - gamma + gamma * exp t.
Proof. pose proof (exp_pos t). destruct (Rle_lt_dec gamma (1 / 2)); nra. Qed.

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [H| ->]; [left; now apply exp_increasing | lra]. Qed.

Lemma ln_le' x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. intros P [H| ->]; [left; now apply ln_increasing | lra]. Qed.

(** The power of the ratio, at the loss t. *)
Definition power (t : R) : R := exp (alpha * ln (1 - gamma + gamma * exp t)).

Lemma power_small t : t <= 0 -> power t <= 1.
Proof.
  intro H. unfold power. apply Rle_trans with (exp 0); [apply exp_le | rewrite exp_0; lra].
  pose proof (ln_le' _ 1 (ratio_positive t)) as L. rewrite ln_1 in L.
  pose proof (exp_le t 0 H) as E. rewrite exp_0 in E.
  specialize (L ltac:(nra)). nra.
Qed.

Lemma power_large t : 0 <= t -> power t <= exp (alpha * t).
Proof.
  intro H. unfold power. apply exp_le. apply Rmult_le_compat_l; [lra|].
  rewrite <- (ln_exp t) at 2. apply ln_le'; [apply ratio_positive|].
  pose proof (exp_le 0 t H) as E. rewrite exp_0 in E. nra.
Qed.

Lemma power_continuous t : continuous power t.
Proof.
  apply smooth. unfold power. auto_derive. apply ratio_positive.
Qed.

(** * Normal noise *)

Lemma root_positive : 0 < sqrt (2 * PI).
Proof. apply sqrt_lt_R0. pose proof PI_RGT_0. lra. Qed.

Lemma sampled_normal_continuous z : continuous (sampled_normal s gamma alpha) z.
Proof.
  apply smooth. unfold sampled_normal. auto_derive.
  apply ratio_positive.
Qed.

Lemma sampled_normal_positive z : 0 <= sampled_normal s gamma alpha z.
Proof.
  unfold sampled_normal. left. apply Rmult_lt_0_compat; [|apply exp_pos].
  apply Rdiv_lt_0_compat; [apply exp_pos | apply root_positive].
Qed.

Lemma normal_left L l : 0 < L -> l <= - L ->
  RInt (sampled_normal s gamma alpha) l (- L) <= exp (- L ^ 2 / 2) / (L * sqrt (2 * PI)).
Proof.
  intros HL Hl. pose proof root_positive as Q.
  pose (g := fun z => - z / L * (exp (- z ^ 2 / 2) / sqrt (2 * PI))).
  pose (G := fun z => exp (- z ^ 2 / 2) / (L * sqrt (2 * PI))).
  eapply Rle_trans; [apply (integral_below _ g G)|].
  - exact Hl.
  - apply sampled_normal_continuous.
  - intro z. apply smooth. unfold g. auto_derive. trivial.
  - intro z. unfold G, g. auto_derive; [trivial|]. unfold Rdiv. simpl pow. field. split; lra.
  - intros z [_ Hz]. unfold g, sampled_normal. fold (power (s * z - s ^ 2 / 2)).
    assert (E : 0 < exp (- z ^ 2 / 2) / sqrt (2 * PI))
      by (apply Rdiv_lt_0_compat; [apply exp_pos | exact Q]).
    assert (P : power (s * z - s ^ 2 / 2) <= 1) by (apply power_small; nra).
    assert (W : 1 <= - z / L).
    { apply (Rmult_le_reg_r L); [exact HL|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    nra.
  - unfold G. assert (0 < exp (- l ^ 2 / 2) / (L * sqrt (2 * PI))).
    { apply Rdiv_lt_0_compat; [apply exp_pos | nra]. }
    replace (- (- L) ^ 2 / 2) with (- L ^ 2 / 2) by (simpl; lra). lra.
Qed.

Lemma normal_right U u : alpha * s < U -> U <= u ->
  RInt (sampled_normal s gamma alpha) U u
  <= exp ((alpha ^ 2 - alpha) * s ^ 2 / 2 - (U - alpha * s) ^ 2 / 2)
     / ((U - alpha * s) * sqrt (2 * PI)).
Proof.
  intros HU Hu. pose proof root_positive as Q. set (W := U - alpha * s).
  assert (HW : 0 < W) by (unfold W; lra).
  pose (e := fun z => exp ((alpha ^ 2 - alpha) * s ^ 2 / 2 - (z - alpha * s) ^ 2 / 2)).
  pose (g := fun z => (z - alpha * s) / W * (e z / sqrt (2 * PI))).
  pose (G := fun z => - (e z / (W * sqrt (2 * PI)))).
  eapply Rle_trans; [apply (integral_below _ g G)|].
  - exact Hu.
  - apply sampled_normal_continuous.
  - intro z. apply smooth. unfold g, e. auto_derive. trivial.
  - intro z. unfold G, g, e. auto_derive; [trivial|]. unfold Rdiv, Rminus. simpl pow. field. split; lra.
  - intros z [Hz _]. unfold g, sampled_normal. fold (power (s * z - s ^ 2 / 2)).
    assert (P : power (s * z - s ^ 2 / 2) <= exp (alpha * (s * z - s ^ 2 / 2)))
      by (apply power_large; nra).
    assert (F : exp (- z ^ 2 / 2) * exp (alpha * (s * z - s ^ 2 / 2)) = e z).
    { unfold e. rewrite <- exp_plus. f_equal. field. }
    assert (E : 0 < exp (- z ^ 2 / 2) / sqrt (2 * PI))
      by (apply Rdiv_lt_0_compat; [apply exp_pos | exact Q]).
    assert (K : 1 <= (z - alpha * s) / W).
    { apply (Rmult_le_reg_r W); [exact HW|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l;
        unfold W; lra. }
    assert (N : 0 < e z / sqrt (2 * PI)) by (apply Rdiv_lt_0_compat; [apply exp_pos | exact Q]).
    apply Rle_trans with (e z / sqrt (2 * PI)).
    + rewrite <- F. unfold Rdiv in *. nra.
    + nra.
  - unfold G. assert (0 < e u / (W * sqrt (2 * PI))).
    { apply Rdiv_lt_0_compat; [apply exp_pos | nra]. }
    unfold e in *. fold W. lra.
Qed.

Theorem normal_integral L U inner :
  0 < L -> alpha * s < U -> RInt (sampled_normal s gamma alpha) (- L) U <= inner ->
  integral_at_most (sampled_normal s gamma alpha)
    (exp (- L ^ 2 / 2) / (L * sqrt (2 * PI)) + inner
     + exp ((alpha ^ 2 - alpha) * s ^ 2 / 2 - (U - alpha * s) ^ 2 / 2)
       / ((U - alpha * s) * sqrt (2 * PI))).
Proof.
  intros HL HU HI l u K. eapply Rle_trans.
  - apply (three_parts _ (- L) U (exp (- L ^ 2 / 2) / (L * sqrt (2 * PI)))
      (exp ((alpha ^ 2 - alpha) * s ^ 2 / 2 - (U - alpha * s) ^ 2 / 2)
       / ((U - alpha * s) * sqrt (2 * PI)))); [nra | apply sampled_normal_continuous
      | apply sampled_normal_positive | intros; now apply normal_left
      | intros; now apply normal_right | exact K].
  - lra.
Qed.

(** * Laplace noise *)

Lemma sampled_laplace_continuous z : continuous (sampled_laplace s gamma alpha) z.
Proof.
  unfold sampled_laplace.
  apply (continuous_mult (fun z => exp (- Rabs z) / 2)
           (fun z => power (Rabs z - Rabs (z - s)))).
  - apply (continuous_comp Rabs (fun y => exp (- y) / 2)).
    + apply continuous_Rabs.
    + apply smooth. auto_derive. trivial.
  - apply (continuous_comp (fun z => Rabs z - Rabs (z - s)) power); [|apply power_continuous].
    apply (continuous_minus Rabs (fun z => Rabs (z - s))); [apply continuous_Rabs|].
    apply (continuous_comp (fun z => z - s) Rabs); [|apply continuous_Rabs].
    apply smooth. auto_derive. trivial.
Qed.

Lemma sampled_laplace_positive z : 0 <= sampled_laplace s gamma alpha z.
Proof.
  unfold sampled_laplace. left. apply Rmult_lt_0_compat; [|apply exp_pos].
  apply Rdiv_lt_0_compat; [apply exp_pos | lra].
Qed.

Lemma laplace_left l : l <= 0 -> RInt (sampled_laplace s gamma alpha) l 0 <= power (- s) / 2.
Proof.
  intro Hl.
  pose (g := fun z => exp z * (power (- s) / 2)).
  eapply Rle_trans; [apply (integral_below _ g g)|].
  - exact Hl.
  - apply sampled_laplace_continuous.
  - intro z. apply smooth. unfold g. auto_derive. trivial.
  - intro z. unfold g. auto_derive; [trivial | ring].
  - intros z [_ Hz]. unfold g, sampled_laplace.
    rewrite (Rabs_left z), (Rabs_left (z - s)) by lra.
    replace (- z - - (z - s)) with (- s) by ring. rewrite Ropp_involutive.
    unfold power. right. field.
  - unfold g. rewrite exp_0. assert (0 < exp l * (power (- s) / 2)).
    { apply Rmult_lt_0_compat; [apply exp_pos|]. unfold power.
      apply Rdiv_lt_0_compat; [apply exp_pos | lra]. }
    lra.
Qed.

Lemma laplace_right u : s <= u ->
  RInt (sampled_laplace s gamma alpha) s u <= exp (- s) * power s / 2.
Proof.
  intro Hu.
  pose (g := fun z => exp (- z) * (power s / 2)).
  pose (G := fun z => - (exp (- z) * (power s / 2))).
  eapply Rle_trans; [apply (integral_below _ g G)|].
  - exact Hu.
  - apply sampled_laplace_continuous.
  - intro z. apply smooth. unfold g. auto_derive. trivial.
  - intro z. unfold G, g. auto_derive; [trivial | ring].
  - intros z [Hz _]. unfold g, sampled_laplace.
    rewrite (Rabs_right z), (Rabs_right (z - s)) by lra.
    replace (z - (z - s)) with s by ring. unfold power. right. field.
  - unfold G. assert (0 < exp (- u) * (power s / 2)).
    { apply Rmult_lt_0_compat; [apply exp_pos|]. unfold power.
      apply Rdiv_lt_0_compat; [apply exp_pos | lra]. }
    lra.
Qed.

(** Between the two centres there are no absolute values left. *)
Definition between (z : R) : R :=
  exp (- z) / 2 * exp (alpha * ln (1 - gamma + gamma * exp (2 * z - s))).

Lemma laplace_between :
  RInt (sampled_laplace s gamma alpha) 0 s = RInt between 0 s.
Proof.
  apply RInt_ext. intros z Hz. rewrite Rmin_left, Rmax_right in Hz by lra.
  unfold sampled_laplace, between. rewrite (Rabs_right z), (Rabs_left (z - s)) by lra.
  do 5 f_equal. f_equal. f_equal. ring.
Qed.

Theorem laplace_integral inner :
  RInt between 0 s <= inner ->
  integral_at_most (sampled_laplace s gamma alpha)
    (power (- s) / 2 + inner + exp (- s) * power s / 2).
Proof.
  intros HI l u K. eapply Rle_trans.
  - apply (three_parts _ 0 s (power (- s) / 2) (exp (- s) * power s / 2)); [lra | apply sampled_laplace_continuous
      | apply sampled_laplace_positive | apply laplace_left | apply laplace_right | exact K].
  - rewrite laplace_between. lra.
Qed.
End Noise.

(** * Any composition at a real order *)

Fixpoint costs (alpha : R) (m : mechanism) (r : R) : Prop :=
  match m with
  | Gaussian sigma sensitivity => gaussian sigma sensitivity alpha <= r
  | Laplace b sensitivity => laplace b sensitivity alpha <= r
  | RandomizedResponse p => responding p alpha <= r
  | PureDP epsilon => pure epsilon alpha <= r
  | ZCDP rho xi => concentrated rho xi alpha <= r
  | PoissonSubsample (Gaussian sigma sensitivity) gamma =>
      integral_at_most (sampled_normal (sensitivity / sigma) gamma alpha) (exp ((alpha - 1) * r))
  | PoissonSubsample (Laplace b sensitivity) gamma =>
      integral_at_most (sampled_laplace (sensitivity / b) gamma alpha) (exp ((alpha - 1) * r))
  | PoissonSubsample (RandomizedResponse p) gamma =>
      sampled_response p gamma alpha <= exp ((alpha - 1) * r)
  | PoissonSubsample (PureDP epsilon) gamma =>
      sampled_response (truth epsilon) gamma alpha <= exp ((alpha - 1) * r)
  | PoissonSubsample _ _ => False
  | Compose m1 m2 => exists r1 r2, costs alpha m1 r1 /\ costs alpha m2 r2 /\ r1 + r2 <= r
  | Times n m => exists one, costs alpha m one /\ IZR (Zpos n) * one <= r
  end.

Lemma costs_times alpha n m one :
  costs alpha m one -> costs alpha (Times n m) (IZR (Zpos n) * one).
Proof. intro H. exists one. split; [exact H | lra]. Qed.

Lemma costs_compose alpha m1 m2 r1 r2 :
  costs alpha m1 r1 -> costs alpha m2 r2 -> costs alpha (Compose m1 m2) (r1 + r2).
Proof. intros H1 H2. exists r1, r2. repeat split; [exact H1 | exact H2 | lra]. Qed.

Section Real.
Variable rdp dp : mechanism -> R -> R -> Prop.
Hypothesis papers : published rdp dp.

Theorem costs_are_rdp alpha m r : 1 < alpha -> valid m -> costs alpha m r -> rdp m alpha r.
Proof.
  intro A. revert r.
  induction m as [s d|b d|p|e|rho xi|m IH gamma|m1 IH1 m2 IH2|k m IH]; intros r V H.
  - apply (weaken _ _ papers _ _ _ _ H). simpl in V. now apply (MIR17_gaussian _ _ papers).
  - apply (weaken _ _ papers _ _ _ _ H). simpl in V. now apply (MIR17_laplace _ _ papers).
  - apply (weaken _ _ papers _ _ _ _ H). simpl in V. now apply (MIR17_response _ _ papers).
  - apply (weaken _ _ papers _ _ _ _ H). simpl in V. now apply (KOV15_pure _ _ papers).
  - apply (weaken _ _ papers _ _ _ _ H). simpl in V. now apply (BS16_concentrated _ _ papers).
  - simpl in V. destruct m; try contradiction; simpl in V, H.
    + now apply (MTZ19_gaussian _ _ papers).
    + now apply (MTZ19_laplace _ _ papers).
    + now apply (MTZ19_response _ _ papers).
    + now apply (KOV15_sampled_pure _ _ papers).
  - destruct H as (r1 & r2 & H1 & H2 & H3). simpl in V.
    apply (weaken _ _ papers _ _ _ _ H3). apply (MIR17_compose _ _ papers); intuition.
  - destruct H as (one & H1 & H2).
    apply (weaken _ _ papers _ _ _ _ H2). apply (MIR17_times _ _ papers); intuition.
Qed.

Theorem real_improved alpha m r epsilon delta :
  1 < alpha -> 0 < delta -> valid m ->
  costs alpha m r -> r + improved alpha delta <= epsilon -> dp m epsilon delta.
Proof.
  intros A D V H E. apply (CKS20_improved _ _ papers m alpha r); try assumption.
  now apply costs_are_rdp.
Qed.

Theorem real_classic alpha m r epsilon delta :
  1 < alpha -> 0 < delta -> valid m ->
  costs alpha m r -> r + classic alpha delta <= epsilon -> dp m epsilon delta.
Proof.
  intros A D V H E. apply (MIR17_classic _ _ papers m alpha r); try assumption.
  now apply costs_are_rdp.
Qed.
End Real.
